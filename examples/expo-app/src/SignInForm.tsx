import type { SignedInAccount } from '@waxwing/client';
import { useState } from 'react';
import { Button, TextInput } from 'react-native';
import { signIn } from './sign-in';

interface Props {
  onSignIn(account: SignedInAccount): void;
  onError(message: string): void;
}

export function SignInForm({ onSignIn, onError }: Props) {
  const [realmUrl, setRealmUrl] = useState('https://');
  const [username, setUsername] = useState('');
  const [password, setPassword] = useState('');
  const submit = () =>
    signIn(realmUrl.trim().replace(/\/+$/, ''), username.trim(), password).then(onSignIn, (error: unknown) =>
      onError(String(error)),
    );
  return (
    <>
      <TextInput value={realmUrl} onChangeText={setRealmUrl} autoCapitalize="none" inputMode="url" />
      <TextInput
        value={username}
        onChangeText={setUsername}
        placeholder="E-mail address"
        autoCapitalize="none"
        inputMode="email"
      />
      <TextInput value={password} onChangeText={setPassword} placeholder="Password" secureTextEntry />
      <Button title="Sign in" onPress={submit} />
    </>
  );
}
